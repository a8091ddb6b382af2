import{a}from"./chunk-TXOBGIJZ.js";import"./chunk-RVU7BJLC.js";import"./chunk-WJ22UJD3.js";import"./chunk-LAOYLPM2.js";export{a as reader};
