import{a,b}from"./chunk-O4QUZBXG.js";import"./chunk-X74LDXNU.js";import"./chunk-NWTNBLWH.js";import"./chunk-HOED4DUL.js";import"./chunk-WOT6VMZA.js";export{b as answerOf,a as compare};
