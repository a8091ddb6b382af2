import{a,b}from"./chunk-UP6CWULO.js";import"./chunk-AXFYHYUV.js";import"./chunk-WOT6VMZA.js";export{b as openPdf,a as prepare};
