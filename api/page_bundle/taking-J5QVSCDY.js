import{a,b}from"./chunk-IYZKMFHY.js";import"./chunk-AXFYHYUV.js";import"./chunk-WOT6VMZA.js";export{a as save,b as saveFile};
