import{a,b}from"./chunk-736END6I.js";import"./chunk-3IMMMULB.js";import"./chunk-EBP6VQ3F.js";import"./chunk-WBEW4XET.js";import"./chunk-WOT6VMZA.js";export{b as answerOf,a as compare};
