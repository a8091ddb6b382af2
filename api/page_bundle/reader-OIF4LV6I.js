import{a}from"./chunk-HXFVAWTK.js";import"./chunk-5KXVP5CL.js";import"./chunk-FKRWGI6Q.js";import"./chunk-PDSFSB6C.js";export{a as reader};
