import{a}from"./chunk-QYPCUSXY.js";import"./chunk-TL33N334.js";import"./chunk-UE5LMYWG.js";import"./chunk-MRAQH3PV.js";export{a as reader};
