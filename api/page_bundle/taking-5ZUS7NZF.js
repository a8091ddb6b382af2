import{a,b}from"./chunk-JBPYV25S.js";import"./chunk-YQHZJT2X.js";import"./chunk-WOT6VMZA.js";export{a as save,b as saveFile};
