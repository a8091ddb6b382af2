import{a}from"./chunk-A27EY65O.js";import"./chunk-BQHRWYY6.js";import"./chunk-DJ65BF3K.js";import"./chunk-VEDMVPR3.js";export{a as reader};
