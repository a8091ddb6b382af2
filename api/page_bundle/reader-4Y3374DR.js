import{a}from"./chunk-YCCYEE6X.js";import"./chunk-EIFZHFT3.js";import"./chunk-LF67UVMS.js";import"./chunk-XGD2HPXQ.js";export{a as reader};
