import{a,b}from"./chunk-INOAQPK5.js";import"./chunk-WBEW4XET.js";import"./chunk-WOT6VMZA.js";export{a as save,b as saveFile};
