import{a}from"./chunk-FVYGWWKI.js";import"./chunk-I46IRH7Q.js";import"./chunk-AJSYSZGS.js";import"./chunk-WOT6VMZA.js";export{a as cardOf};
