"""Kinds of places that a text may name in English, Finnish or Swedish, by the value of OpenStreetMap's tag."""

_WORDS_OF_KIND = {
    "bakery": "bakery leipomo bageri", "bank": "bank pankki", "bar": "bar baari", "cafe": "cafe kahvila kafe",
    "cinema": "cinema elokuvateatteri biograf", "hospital": "hospital sairaala sjukhus",
    "hotel": "hotel hotelli hotell", "kindergarten": "kindergarten paivakoti daghem",
    "library": "library kirjasto bibliotek", "museum": "museum museo", "park": "park puisto",
    "pharmacy": "pharmacy apteekki apotek", "place_of_worship": "church kirkko kyrka",
    "playground": "playground leikkipuisto lekplats", "pub": "pub pubi",
    "restaurant": "restaurant ravintola restaurang", "school": "school koulu skola",
    "supermarket": "supermarket ruokakauppa mataffar", "theatre": "theatre teatteri teater",
    "university": "university yliopisto universitet",
}  # fmt: skip
KIND_OF_WORD = {word: kind for kind, words in _WORDS_OF_KIND.items() for word in words.split()} | {
    "gas station": "fuel", "petrol station": "fuel", "huoltoasema": "fuel", "bensinstation": "fuel",
    "post office": "post_office", "posti": "post_office", "postkontor": "post_office",
    "town hall": "townhall", "city hall": "townhall", "kaupungintalo": "townhall", "stadshus": "townhall",
}  # fmt: skip
"""The tag's value by plain words."""
