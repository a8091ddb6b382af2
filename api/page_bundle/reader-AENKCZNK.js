import{a}from"./chunk-KV24KDMM.js";import"./chunk-76ZHTY6B.js";import"./chunk-LBHP2IRQ.js";import"./chunk-S5HQ44SE.js";export{a as reader};
