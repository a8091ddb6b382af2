import{a}from"./chunk-KDBBCAVB.js";import"./chunk-TLKEKY5A.js";import"./chunk-WSHKBQRW.js";import"./chunk-RVRPL5LR.js";export{a as reader};
