import{a,b}from"./chunk-HREATFL5.js";import"./chunk-H37IXWWM.js";import"./chunk-J7ZALF3C.js";import"./chunk-L7E2IYVB.js";import"./chunk-WOT6VMZA.js";export{b as answerOf,a as compare};
