import{a}from"./chunk-CVHAGBSY.js";import"./chunk-UXR5B5YP.js";import"./chunk-UBKNHCJ5.js";import"./chunk-WYO6IIKX.js";export{a as reader};
