import{a,b}from"./chunk-2IZHNZ7W.js";import"./chunk-5OIZK7BF.js";import"./chunk-Q7VZHS3K.js";import"./chunk-YQHZJT2X.js";import"./chunk-WOT6VMZA.js";export{b as answerOf,a as compare};
