import{a}from"./chunk-OXHDRGA6.js";import"./chunk-X2Y47JKF.js";import"./chunk-U2DJSI76.js";import"./chunk-5KYIUJM5.js";export{a as reader};
