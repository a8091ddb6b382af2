import{a,b}from"./chunk-MMCL5BL5.js";import"./chunk-6SLBQDIX.js";import"./chunk-WOT6VMZA.js";export{a as save,b as saveFile};
