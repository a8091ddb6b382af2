import{a,b}from"./chunk-HJQGWWST.js";import"./chunk-XCJXF7VQ.js";import"./chunk-ABPQWIUP.js";import"./chunk-AJSYSZGS.js";import"./chunk-WOT6VMZA.js";export{b as answerOf,a as compare};
