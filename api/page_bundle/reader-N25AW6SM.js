import{a}from"./chunk-UWRD6FL6.js";import"./chunk-ZIBFLAP4.js";import"./chunk-BG53HAHL.js";import"./chunk-6V5MQ56B.js";export{a as reader};
