import{a,b}from"./chunk-X7RCRPTG.js";import"./chunk-RACXYQXY.js";import"./chunk-WOT6VMZA.js";export{a as save,b as saveFile};
