import{a}from"./chunk-6LKUNRRH.js";import"./chunk-7P5KP7OH.js";import"./chunk-AY6Q2LS7.js";import"./chunk-2XHDHBB5.js";export{a as reader};
