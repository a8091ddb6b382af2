import{a,b}from"./chunk-RGLVRB5T.js";import"./chunk-4BIAGEW2.js";import"./chunk-T7SBJXVQ.js";import"./chunk-6XSPTAQI.js";export{b as answerOf,a as compare};
