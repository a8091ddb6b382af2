import{a}from"./chunk-H2KJHFW6.js";import"./chunk-I46IRH7Q.js";import"./chunk-L7E2IYVB.js";import"./chunk-WOT6VMZA.js";export{a as cardOf};
