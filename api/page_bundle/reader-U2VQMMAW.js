import{a}from"./chunk-DNE6MZYE.js";import"./chunk-73YFHE4D.js";import"./chunk-4N44B3ZK.js";import"./chunk-AKUWL5LY.js";import"./chunk-45Y2X6ZR.js";export{a as reader};
