import{a,b}from"./chunk-OQOBXAJU.js";import"./chunk-HOED4DUL.js";import"./chunk-WOT6VMZA.js";export{a as save,b as saveFile};
