import{a,b}from"./chunk-QKQXE3CH.js";import"./chunk-I46IRH7Q.js";import"./chunk-RACXYQXY.js";import"./chunk-WOT6VMZA.js";export{a as cardOf,b as fit};
