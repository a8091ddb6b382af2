import{a,b}from"./chunk-IH3ESI7R.js";import"./chunk-ZY5G2RKZ.js";export{b as openPdf,a as prepare};
