import{a}from"./chunk-ND56ZKXX.js";import"./chunk-I46IRH7Q.js";import"./chunk-6SLBQDIX.js";import"./chunk-WOT6VMZA.js";export{a as cardOf};
