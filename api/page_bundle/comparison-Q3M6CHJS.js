import{a,b}from"./chunk-OIMYFAGZ.js";import"./chunk-TOZ5CCIO.js";import"./chunk-UPD26UQC.js";import"./chunk-AXFYHYUV.js";import"./chunk-WOT6VMZA.js";export{b as answerOf,a as compare};
