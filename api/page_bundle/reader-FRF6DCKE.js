import{a}from"./chunk-ZQ4RL3K2.js";import"./chunk-M6IJGCRN.js";import"./chunk-A77GWDEX.js";import"./chunk-ZE6F2FSM.js";export{a as reader};
