import{a,b}from"./chunk-TCUAXYEB.js";import"./chunk-AJSYSZGS.js";import"./chunk-WOT6VMZA.js";export{a as save,b as saveFile};
