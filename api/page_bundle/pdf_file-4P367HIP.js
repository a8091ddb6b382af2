import{a,b}from"./chunk-UP6CWULO.js";import"./chunk-RACXYQXY.js";import"./chunk-WOT6VMZA.js";export{b as openPdf,a as prepare};
