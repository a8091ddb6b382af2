import{a,b}from"./chunk-AICYQMNR.js";import"./chunk-HOED4DUL.js";import"./chunk-WOT6VMZA.js";export{a as addingTools,b as form};
