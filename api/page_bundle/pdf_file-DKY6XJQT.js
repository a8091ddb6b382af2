import{a,b}from"./chunk-IH3ESI7R.js";import"./chunk-YZPRYCI6.js";export{b as openPdf,a as prepare};
