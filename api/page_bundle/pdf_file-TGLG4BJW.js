import{a,b}from"./chunk-UP6CWULO.js";import"./chunk-6XSPTAQI.js";export{b as openPdf,a as prepare};
