import{a,b}from"./chunk-6O76CTEH.js";import"./chunk-YQHZJT2X.js";import"./chunk-WOT6VMZA.js";export{a as addingTools,b as form};
