import{a,b}from"./chunk-5EOZN4BS.js";import"./chunk-KOA3RIOC.js";import"./chunk-K2JOV75R.js";import"./chunk-6SLBQDIX.js";import"./chunk-WOT6VMZA.js";export{b as answerOf,a as compare};
