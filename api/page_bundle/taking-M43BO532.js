import{a,b}from"./chunk-664Z5AKU.js";import"./chunk-6XSPTAQI.js";export{a as save,b as saveFile};
