import{a}from"./chunk-DCM4PF3A.js";import"./chunk-4HBNPL3C.js";import"./chunk-MUC3IHGW.js";import"./chunk-Q2EZQIDY.js";export{a as reader};
