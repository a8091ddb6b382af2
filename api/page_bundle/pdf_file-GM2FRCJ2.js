import{a,b,c}from"./chunk-QJ6B2CR7.js";import"./chunk-45Y2X6ZR.js";export{c as drawCrop,b as openPdf,a as prepare};
