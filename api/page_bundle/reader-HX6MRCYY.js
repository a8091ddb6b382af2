import{a}from"./chunk-CRG7RCZD.js";import"./chunk-XW56X4TQ.js";import"./chunk-TH56ILCA.js";import"./chunk-ETGY5F5H.js";export{a as reader};
