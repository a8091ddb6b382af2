import{a,b}from"./chunk-2OU7BIBI.js";import"./chunk-6QUTLCPK.js";import"./chunk-OUQGPF5A.js";import"./chunk-RACXYQXY.js";import"./chunk-WOT6VMZA.js";export{b as answerOf,a as compare};
