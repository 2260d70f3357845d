// The file PAGE of Sources/FileDBBrowse/Pages, as an element of `pages`. A zero ends its text.

#define TEXT(...) #__VA_ARGS__
#define NAME(page) TEXT(page)
#define PATH(page) TEXT(../FileDBBrowse/Pages/page)

{NAME(PAGE), (const unsigned char[]){
#embed PATH(PAGE) suffix(, 0)
}},

#undef PAGE
#undef PATH
#undef NAME
#undef TEXT
