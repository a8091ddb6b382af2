import{a,b}from"./chunk-IH3ESI7R.js";import"./chunk-CZ27WBYC.js";export{b as openPdf,a as prepare};
