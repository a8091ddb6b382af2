import{a}from"./chunk-GJNCCG3X.js";import"./chunk-VEKNOIVQ.js";import"./chunk-DXL4533K.js";import"./chunk-J53ZHICC.js";export{a as reader};
