import{a}from"./chunk-RK36KD3D.js";import"./chunk-WGGWWXWO.js";import"./chunk-646OFRSZ.js";import"./chunk-2CB7EFSG.js";export{a as reader};
