import{a}from"./chunk-GNNXNU7Y.js";import"./chunk-L5QLABCD.js";import"./chunk-BUSZPLNJ.js";import"./chunk-GKVCDEOX.js";export{a as reader};
