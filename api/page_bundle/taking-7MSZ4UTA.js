import{a,b}from"./chunk-YDH226ZN.js";import"./chunk-L7E2IYVB.js";import"./chunk-WOT6VMZA.js";export{a as save,b as saveFile};
