import{a}from"./chunk-W3DJVVSE.js";import"./chunk-VUXHCBXI.js";import"./chunk-GN7CCHOY.js";import"./chunk-7GOJS7BH.js";export{a as reader};
