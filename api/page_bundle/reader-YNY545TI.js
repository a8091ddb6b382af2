import{a}from"./chunk-ZWO5NIRM.js";import"./chunk-LJF6D2CX.js";import"./chunk-3XOYF2T5.js";import"./chunk-3BTDCW7T.js";export{a as reader};
