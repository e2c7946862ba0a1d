"""Text as people type it in two cities: it resolves to its place or offers it, never to another (rule D2)."""

import pytest

from fingerpost.transit.model.place import Coordinate, distance_m
from fingerpost.transit.rules.name_matching import RIVAL_DISTANCE_M, find_certain
from tests.addresses.cities import CITIES, open_city

MIDDLES = {"tampere": Coordinate(61.498, 23.761), "helsinki": Coordinate(60.17, 24.94)}
# By the place that each text means.
MEANT = {
    "tampere": """
Keskustori: keskustori | Keskustorilla | keskustorille | KESKUSTORI | central square | Keskustori, Tampere | next to
Keskustori | near Keskustori; Keskustori A: Keskustori A; Keskustori B: keskustori b; Sorin aukio: sorin aukiolta;
Sorin aukio C: sorin aukio c; Linja-autoasema: linja-autoasemalle | Tampere bus station; Rautatieasema:
rautatieasema | rautatieasemalta | tampereen rautatieasema | train station Tampere | Tampere | Tampereelle |
Tammerfors | Tampere railway station; TAYS: TAYS; TAYS B: tays b; Tampereen yliopistollinen sairaala: tampereen
yliopistollinen sairaala; Yliopisto: yliopisto; Hervanta: Hervanta | hervantaan | hervannasta | hervanta tampere;
Pohjois-Hervanta: Pohjois-Hervanta | pohjois hervanta; Hervannan kampus: hervannan kampukselle; Kaupin kampus:
Kaupin kampus; Kaupin kampus C: kaupin kampus c; Opiskelija: opiskelija; Opiskelija D: Opiskelija D; Amuri: amuri |
Amurista; Epilä: epilä | Epila | epilään; Messukylän kirkko: Messukylän kirkko | messukylan kirkolle; Pyynikintori:
pyynikintori | Pyynikintorille; Pispalanharju: pispalanharju; Koskipuisto: koskipuisto | koskipuistossa; Koskipuisto
A: Koskipuisto A; Särkänniemi: särkänniemi | sarkanniemi | Särkänniemeen; Lielahtikeskus: lielahtikeskus;
Linnainmaa: Linnainmaa | linnainmaalle; Messukeskus: messukeskus; Hallila: hallila | hallilaan; Hippos: Hippos;
Sammonaukio: sammonaukio; Iidesaukio: iidesaukio; Ratikkavarikko: ratikkavarikko; Ranta-Tampella: Ranta-Tampella |
ranta tampella; Tampella: tampella; Hatanpään hovi: Hatanpään hovi | hatanpaan hovi; Rosendahl: rosendahl; Janka:
janka | jankaan; TAKK: TAKK | takk; Killo: killo; Hämeenkatu 5: hameenkatu 5; Hämeenkatu 16: Hämeenkatu 16 |
hämeenkatu16 | Hämeenkatu 16, Tampere | Hämeenkatu 16, 33200 Tampere | Tavastgatan 16 | Hämeenkadulla 16 |
Hämeenkatu 16 A 4 | hämeenkatu 16 as 4; Sammonkatu 45: sammonkatu 45; Sammonkatu 75: Sammonkatu 75; Opiskelijankatu
25: opiskelijankatu 25 | Opiskelijankatu25; Hatanpään puistokuja 20: Hatanpään puistokuja 20; Pirkankatu 24:
pirkankatu 24; Pirkankatu 19: Pirkankatu 19; Ikurintie 47: ikurintie 47; Ikurintie 88: Ikurintie 88; Viinikankatu
55: viinikankatu 55; Lielahden apteekki: Lielahden apteekki | lielahden apteekkiin; Koskikeskuksen apteekki:
koskikeskuksen apteekki; Prisma Kaleva: Prisma Kaleva | prisma kalevassa; Prisma Koivistonkylä: Prisma
Koivistonkylä; Lidl Lakalaiva: lidl lakalaiva; S-market Tesoma: s-market tesoma | S market tesoma; K-Citymarket
Lielahti: K-Citymarket Lielahti; Red Baron: Red Baron; Tampereen normaalikoulu: tampereen normaalikoulu | norssi;
Tampereen lyseon lukio: Tampereen lyseon lukio; Sammon koulu: sammon koulu; Sammon keskuslukio: Sammon keskuslukio;
Tampereen klassillinen lukio: Classical High School of Tampere; Klassillinen koulu: klassillinen koulu;
Naistenmatkan koulu: Naistenmatka Primary School; Hatanpään lukio: hatanpään lukio; Hatanpään sairaala: hatanpään
sairaala; Hatanpään kantasairaala: Hatanpään kantasairaala; Metso: Metso; Tuomarinkatu: tuomarinkatu; Veturikatu:
veturikatu | Veturikadulla; Sepänkatu: sepänkatu; Hämeenkatu / Aleksis Kiven katu: Hämeenkatu / Aleksis Kiven katu |
corner of Hämeenkatu and Aleksis Kiven katu; Ylöjärvi: Ylöjärvi; Pirkkala: pirkkala; Muroleenkatu: Muroleenkatu;
Jokipohjantie: jokipohjantie; Jokipohjantie 57: Jokipohjantie 57; Tammelantori: tammelantori | lähellä
Tammelantoria; Tulli: Tulli; Sammonkatu 22: sammonkatu 22 | sammonkatu22 | near Sammonkatu 22 | Sammonkatu 22, 33540
Tampere | Sammonkatu 22, 33540 Tammerfors; Tammerkosken lukio: Tammerkosken lukio; Tampere-talo: Tampere-talo;
Koskikeskus: Koskikeskus; Keskustori E: Keskustori E | near Keskustori E | keskustorilta E
""",
    "helsinki": """
Kamppi: kamppiin | kampen; Kampin metroasema: Kampin metroasema; Kamppi (M): Kamppi (M); Hakaniemi: Hakaniemi |
hakaniemeen | Hagnäs; Rautatientori: rautatientori | rautatientorille | Järnvägstorget | railway square | central
railway station; Rautatientorin metroasema: Rautatientorin metroasema; Rautatieasema: Helsinki central station |
helsingin päärautatieasema | rautatieasema | Helsinki railway station | Helsinki | Helsingfors | Helsinkiin;
Elielinaukio: Elielinaukio | elielinaukiolta; Eliel: Eliel; Postitalo: Postitalo; Helsingin keskustakirjasto Oodi:
oodi | Helsinki Central Library Oodi; Ateneum: Ateneumiin; Kiasma: kiasma; Kauppatori: kauppatorille | market
square; Salutorget: Salutorget; Senaatintori: senaatintorilla | Senatstorget | Senaatintori; Hakaniemen tori:
hakaniemen torille; Sörnäisten metroasema: sörnäinen | sornainen; Kalasataman metroasema: kalasatama; Kalasatama
(M): Kalasatama (M); Koskela: koskela | Koskelaan; Maunula: maunula | Maunulaan; Kumpula: kumpula; Kumpulan kampus:
kumpulan kampus; Arabia: Arabia | arabiaan; Arabianranta: arabianranta; Korkeasaari: Korkeasaari | korkeasaareen;
Munkkivuori: munkkivuori | Munkkivuoressa; Lassila: lassila; Kulosaari: Kulosaari | kulosaareen; Salmisaari:
Salmisaari; Lauttasaaren metroasema: Lauttasaaren metroasema | lauttasaari; Valimon asema: Valimon asema; Valimo:
valimo; Pitäjänmäen asema: Pitäjänmäen asema | pitäjänmäki; Meilahden sairaala: Meilahden sairaala; Haagan tori:
Haagan tori; Oulunkylän tori: Oulunkylän tori; Oulunkylän asema: Oulunkylä; Länsilinkki: länsilinkki; Tekniikan
museo: tekniikan museo; Kansallisarkisto: Kansallisarkisto; Ritarihuone: ritarihuone; Lapinrinne: lapinrinne;
Perhonkatu: perhonkatu; Mannerheimintie 5: mannerheimintie 5 | Mannerheimvägen 5 | mannerheimintie5 |
Mannerheimintie 5, Helsinki | Mannerheimintie 5, 00100 Helsinki | Mannerheimintie 5 B 12 | mannerheimintie 5b;
Mannerheimintie: Mannerheimintie; Bulevardi 5: Bulevardi 5 | bulevarden 5; Bulevardi: bulevardilla; Annankatu 10:
Annankatu 10 | annankatu10 | Annegatan 10; Aleksanterinkatu 15: Aleksanterinkatu 15 | aleksi 15 | Alexandersgatan 15
| Aleksanterinkatu 15 Helsinki; Unioninkatu 20: Unioninkatu 20 | unionsgatan 20; Fredrikinkatu 41: Fredrikinkatu 41
| freda 41 | Fredriksgatan 41; Iso Roobertinkatu 10: Iso Roobertinkatu 10 | iso-roobertinkatu 10 | Stora
Robertsgatan 10; Pieni Roobertinkatu 4: Pieni Roobertinkatu 4; Yrjönkatu 21: Yrjönkatu 21 | yrjonkatu 21 |
Georgsgatan 21; Toinen linja 7: Toinen linja 7 | toinen linja7 | Andra linjen 7; Kolmas linja 12: Kolmas linja 12;
Kolmas linja: kolmas linja; Hämeentie 5: Hämeentie 5 | hameentie 5 | Tavastvägen 5; Tarkk'ampujankatu 8:
Tarkk'ampujankatu 8 | tarkkampujankatu 8 | Tarkk ampujankatu 8; Korkeavuorenkatu 27: Korkeavuorenkatu 27 |
korkeavuorenkatu27 helsinki; Mikonkatu / Aleksanterinkatu: Mikonkatu / Aleksanterinkatu; Bulevardi / Fredrikinkatu:
Bulevardi / Fredrikinkatu; Bulevardi / Yrjönkatu: corner of Bulevardi and Yrjönkatu | hörnet av Bulevarden och
Georgsgatan | Bulevardin ja Yrjönkadun kulma; Stockmann Helsinki: near Stockmann | Stockmann; Sokos: Sokos; Forum:
Forum; Holiday Inn: Holiday Inn; Helsingin kaupunginmuseo: Helsinki City Museum | Helsingfors stadsmuseum |
kaupunginmuseo; Alankomaiden suurlähetystö: Alankomaiden suurlähetystö; Lasipalatsi: lasipalatsi;
Narinkkatori: Narinkkatori; Narinkka: narinkka;
Kolme seppää: Kolmen sepän patsas; Kolmensepänaukio: kolmensepänaukio; Ylioppilasaukio: Ylioppilasaukio; Kaivokatu:
kaivokatu; Pasila: Pasila; Olympiaterminaali: Olympiaterminaali; Tove Janssonin p.: Tove Janssonin p.; Ida Aalbergin
tie: Ida Aalbergin tie; Malminkartanon asema: Malminkartanon asema; Malminkartanon as.: Malminkartanon as.;
Bulevardi 12: Bulevardi 12 | bulevardi12 | nära Bulevarden 12 | Bulevarden 12, 00120 Helsingfors; Lönnrotinkatu 7:
lönnrotinkatu 7; Fredrikinkatu 30: fredriksgatan 30
""",
}
# Texts of no place, of several, or spelled in a way that could mean another: they are offered.
ASKED_ABOUT = {
    "tampere": """
keskusori | by keskustori | Sorinaukio | linjaautoasema | juna-asema | railway station | asema | bussiasema |
near the railway station |
Tampereen yliopisto | pyynikin tori | pyynikki | pispala | lielahti | Lielahdesta | lielahti keskus | sammon aukio |
Vaasankatu | Hameenkatu 10 Nokia |
tramvarikko | rantatampella | Hameenk. 16 | Hämeenkatu 999 | Hämeenkatu 16 Helsinki | ikurintie 4 | apteekki
lielahti | apteekki | pharmacy Hervanta | kalevan prisma | prisma | Lidl | smarket tesoma | citymarket lielahti |
lyseo | hospital | koulu | library | kirjasto | hotel | hotelli | pyhajarvenkatu | pyhäjärvenkadulle | hämeenkatu
aleksis kiven katu | Sammonkatu / Kalevantie | Nokia | Turku | Helsinki | Mannerheimintie 12 | Kamppi | mesukylän
kirkko | Hervnata | pynikintori | särkäniemi | home | koti | work | the airport | lentoasema | airport |
Tampere-Pirkkala airport | university hospital | city hall | kaupungintalo | näsilinnankatu 15 | satakunnankatu 12
tammerfors | Hatanpään valtatie 30 | Mannerheimintie 5 | Sammonkatu 22 Nokia | Tamelantori | stadion
""",
    "helsinki": """
kamppi metro | Kampin metro | päärautatieasema | juna-asema | posti | Oodi library | keskustakirjasto oodi | ateneum
art museum | Kiasma museum | Sörnäisiin | Sörnäs | Fiskehamnen | zoo | Munkshöjden | Brändö | Drumsö | meilahti
hospital | haaga tori | Technical museum | national archives | Mannerheim 5 | manerheimintie 5 | mannerheimintie 500
| Mannerheimintie 5 Turku | Bulevard 5 | Anninkatu 10 | fredrikink. 41 | Roobertinkatu 10 | 2. linja 9 | Bulevardi
Yrjönkatu | stockman | Starbucks | Subway | R-kioski | Dutch embassy |
Lasipalatsin aukio | temppeliaukion kirkko | church | kirkko | rock church | Böle | Itäkeskus | Espoo | Vantaa
airport | lentoasema | airport | Tikkurila | 00100 | Helsinki 00100 | kotiin | työ | Linnanmäki | Länsiterminaali |
Kamppi bus station | bus station | Kampin terminaali | Tove Janssonin puisto | Eliel Saarisen tie | eliel
saarisentie | Hakanimi | Rautatientor | kampppi | hakaniemi tori | Kauppaori | Bulevardi 12 Tampere | Keskustori |
Hervanta | Hämeenkatu 10 | Senate Square | Bulevardi 12 Espoo | koti | Esplanadi | Kampi
""",
}


@pytest.fixture(scope="module", params=CITIES)
def city(request, tmp_path_factory):
    """A city, and how to search it for places."""
    with open_city(request.param, tmp_path_factory.mktemp(request.param)) as (_features, find):
        yield request.param, find


def list_texts(listed):
    return [" ".join(text.split()) for text in listed.split("|")]


def find_places_of(name):
    groups = [group.split(":") for group in MEANT[name].split(";")]
    meant = {text: " ".join(place.split()) for place, texts in groups for text in list_texts(texts)}
    return meant | dict.fromkeys(list_texts(ASKED_ABOUT[name]))


def test_a_kind_offers_the_nearest_of_its_kind(city):
    name, find = city
    found = [find(text, language="fi", focus=MIDDLES[name]) for text in ("pharmacy", "apotek", "near the pharmacy")]
    nearest = [[match.place.token for match in matches if match.score == 0.79][:5] for matches in found]

    assert (len(nearest[0]), nearest[1:], max(match.score for match in found[0])) == (5, nearest[:1] * 2, 0.79)


def test_near_a_kind_of_station_offers_its_stations(city):
    name, find = city
    kind, near = [
        find(text, language="fi", focus=MIDDLES[name]) for text in ("railway station", "near the railway station")
    ]
    stations = [{match.place.token for match in matches if match.score == 0.79} for matches in (kind, near)]

    assert stations[0]
    assert stations[0] <= stations[1]


def test_a_typed_text_resolves_to_its_place_or_returns_candidates(city):
    name, find = city
    places = find_places_of(name)
    certain = {text: find_certain(find(text, language="fi", focus=MIDDLES[name])) for text in places}

    assert {text: match and match.place.name for text, match in certain.items()} == places


def test_a_text_of_a_missing_place_resolves_to_nothing_else(city):
    """Each place is left out in turn; a street may still have the name of a missing stop."""
    name, find = city
    others = {}
    for text, place in find_places_of(name).items():
        matches = find(text, language="fi", focus=MIDDLES[name])
        if (certain := find_certain(matches)) is not None:
            at = certain.place.coordinate
            rest = [match for match in matches if distance_m(at, match.place.coordinate) > RIVAL_DISTANCE_M]
            if (other := find_certain(rest)) is not None and other.place.name != place:
                others[text] = other.place.name

    assert others == {}
