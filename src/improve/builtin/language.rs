//! Standing instructions in other languages than English: one row of words for each, and one reading for all.

use std::sync::LazyLock;

use regex::Regex;

use super::contrast::is_tool;
use super::instruction::Instruction;
use super::judge;

/// The words of a language by which a standing instruction is known, as alternatives of a pattern.
struct Words {
    /// Before an instruction, saying nothing.
    filler: &'static str,
    /// From now on, as a rule.
    from_now: &'static str,
    /// In this project.
    scope: &'static str,
    /// Always, never.
    absolute: &'static str,
    /// Before every, each time.
    each: &'static str,
    /// Orders, and after a negation what they become.
    orders: &'static str,
    /// An order by its form alone: an infinitive at its place.
    infinitive: &'static str,
    /// You must.
    must: &'static str,
    /// We use.
    habit: &'static str,
    /// Not, instead of: one thing set against another.
    against: &'static str,
    /// Before a reason.
    because: &'static str,
    /// A question, also one without its mark.
    question: &'static str,
    /// For now, perhaps, wrong, yesterday, the second one: about the moment, or a complaint.
    passing: &'static str,
    /// What a statement begins with.
    statement: &'static str,
}

const LANGUAGES: &[Words] = &[
    // German.
    Words {
        filler: r"ok(?:ay)?|gut|danke|super|also|und|aber|bitte|nein|ja|übrigens|noch was|hinweis|wichtig|merk(?:e|'s)? dir|stopp|halt|denk daran",
        from_now: r"ab (?:jetzt|sofort)|von (?:jetzt|nun) an|in zukunft|künftig|zukünftig|grundsätzlich|generell|als regel|unsere regel(?: ist)?|für die zukunft",
        scope: r"in (?:diesem|unserem) (?:repo|repository|projekt|code|monorepo)|hier|bei uns|im ganzen (?:repo|projekt)",
        absolute: r"immer|stets|nie|niemals|nie wieder|auf keinen fall|grundsätzlich",
        each: r"(?:vor|nach|bei|in|für) jede[mnrs]?|jedes mal",
        orders: r"verwende|benutze?|nutze?|schreibe?|antworte|committe|pushe?|mach|lass|führe?|füge?|frage?|leg|nimm|halte?|formatiere|teste?|prüfe?|ändere?|editiere|lösche?|vermeide?|achte|setze?|rufe?|starte?|bearbeite|fass|erstelle?|dokumentiere|installiere|merge|rebase|nenne?|benenne|logge?",
        infinitive: r"\b\w{2,}(?:en|ern|eln)$",
        must: r"(?:du|ihr|wir|man) (?:sollst|solltest|sollten|sollen|soll|musst|müsst|müssen|muss|darfst|dürfen|darf)|es (?:müssen|muss|dürfen|darf)",
        habit: r"wir (?:verwenden|benutzen|nutzen|schreiben|machen|committen|pushen|testen|setzen|halten|nennen|mergen|speichern|deployen|formatieren)|(?:verwenden|benutzen|nutzen|schreiben|machen|committen|testen|nennen|speichern|deployen|formatieren) wir",
        against: r", nicht |, nie |, niemals |,? keine?n? |,? sondern | statt | anstatt | anstelle ",
        because: r",? (?:weil|denn|da|sonst|damit) ",
        question: r"kannst|könntest|könnt|würdest|soll|sollen|sollten|warum|wieso|weshalb|was|wie|wer|wo|wann|welche\w*|ist|sind|hast|haben|gibt|darf|muss|müssen|verwenden wir|nutzen wir",
        passing: r"vielleicht|diesmal|heute|morgen|gerade|erstmal|vorerst|im moment|zurzeit|jetzt noch|noch immer|immer noch|immer so|noch nie|wahrscheinlich|ich glaube|schon wieder|gestern|falsch\w*|kaputt\w*|fehler\w*|fehl|zweiten?|ersten?|letzten?|diese[mnrs]?|bis|kollege|chef|sagt\w*|steht",
        statement: r"der|die|das|ein|eine|ich|er|sie|es",
    },
    // French.
    Words {
        filler: r"ok|merci de|merci|bon|super|alors|et|mais|non|oui|au fait|s'il (?:te|vous) plaît|stp|svp|attention|important|note|rappel|pense à|n'oublie pas (?:de|que)",
        from_now: r"[àa] partir de maintenant|désormais|dorénavant|à l'avenir|en règle générale|par convention|notre (?:règle|convention)(?: est(?: de)?)?",
        scope: r"(?:dans|sur) (?:ce|notre) (?:dépôt|repo|projet|code)|ici|chez nous",
        absolute: r"toujours|jamais|systématiquement|en aucun cas",
        each: r"(?:avant|après|pour|à) chaque|chaque fois",
        orders: r"utilise[zr]?|écris|écrivez|réponds|répondez|lance[zr]?|fais|faites|mets|mettez|committ?e[zr]?|pousse[zr]?|modifie[zr]?|touche[zr]?|ajoute[zr]?|demande[zr]?|évite[zr]?|garde[zr]?|nomme[zr]?|formate[zr]?|teste[zr]?|vérifie[zr]?|préfère|supprime[zr]?|crée[zr]?|documente[zr]?|laisse[zr]?",
        infinitive: r"^(?:(?:ne|de) (?:pas |jamais )?)?\w{2,}(?:er|ir|re)\b",
        must: r"il (?:ne )?faut|on (?:ne )?doit|tu (?:ne )?dois|vous (?:ne )?devez",
        habit: r"(?:on|nous) (?:n'|ne )?(?:utilis(?:e|ons)|écri(?:t|vons)|f(?:ait|aisons)|met(?:tons)?|nomm(?:e|ons)|préf(?:ère|érons)|test(?:e|ons)|commit(?:e|ons))",
        against: r", pas |, jamais | au lieu d| plutôt qu| et non |\bn(?:e |')\w+ (?:pas|jamais|plus)\b",
        because: r",? (?:car|parce qu(?:e |')|puisqu(?:e |')|sinon|pour que) ?",
        question: r"peux|pourrais|pouvez|est-ce|pourquoi|comment|quand|quel\w*|où|qui|que|as-tu|dois-je|faut-il",
        passing: r"peut-être|cette fois|aujourd'hui|demain|pour l'instant|pour le moment|deuxième|premi(?:er|ère)|second|mauvais\w*|cassé\w*|erreurs?|échoue\w*|plante|marche|encore|hier|déjà|je crois|je pense|ce(?:tte|t)?|jusqu'à|dit|chef|collègue",
        statement: r"le|la|les|un|une|je|il|elle|ça|c'est",
    },
    // Spanish.
    Words {
        filler: r"ok|vale|gracias|bien|bueno|y|pero|no,|sí|por cierto|por favor|ojo|importante|nota|recuerda(?: que)?|oye|además",
        from_now: r"a partir de ahora|de ahora en adelante|desde ahora|en (?:el )?futuro|como regla(?: general)?|por convención|en adelante",
        scope: r"en (?:este|nuestro) (?:repo|repositorio|proyecto|código)|aquí|acá",
        absolute: r"siempre|nunca|jamás|en ningún caso",
        each: r"(?:antes|después) de cada|en cada|para cada|cada vez",
        orders: r"us[aá]|utiliza|ejecuta|corre|escribe|haz|pon|añade|agrega|crea|formatea|revisa|pregunta|responde|contesta|mantén|evita|comprueba|verifica|documenta|prueba|nombra|prefiere|sube|deja|borra|modifica|uses|utilices|hagas|ejecutes|pongas|escribas|toques|edites|subas|modifiques|borres|cambies|añadas|agregues|olvides|commitees|mezcles|instales|dejes|crees",
        infinitive: r"^(?:no )?\w{2,}(?:ar|er|ir)\b",
        must: r"hay que|(?:no )?debes|tienes que|se debe|debemos",
        habit: r"(?:no )?(?:usamos|utilizamos|escribimos|hacemos|ponemos|preferimos|nombramos|probamos)",
        against: r", no | en vez de | en lugar de |, nunca |,? sino |, solo |^no ",
        because: r",? (?:porque|ya que|si no|para que) ",
        question: r"¿.*|puedes|podrías|por qué|qué|cómo|cuándo|dónde|quién|cuál|debería\w*|es que|hay algún",
        passing: r"quizás?|tal vez|esta vez|hoy|mañana|por ahora|de momento|ahora mismo|segund[oa]|primer[oa]?|incorrect\w+|mal|rot[oa]|error(?:es)?|falla|falló|funciona|sale|rompe|creo que|ayer|este|esta|est[oa]s|hasta|dice|jefe",
        statement: r"el|la|los|las|un|una|yo|se",
    },
];

/// The patterns of a language.
struct Language {
    filler: Regex,
    from_now: Regex,
    from_now_end: Regex,
    scope: Regex,
    absolute: Regex,
    each: Regex,
    order: Regex,
    infinitive: Regex,
    must: Regex,
    habit: Regex,
    against: Regex,
    because: Regex,
    question: Regex,
    passing: Regex,
    statement: Regex,
}

static READY: LazyLock<Vec<Language>> = LazyLock::new(|| LANGUAGES.iter().map(Language::of).collect());

impl Language {
    fn of(words: &Words) -> Language {
        let pattern = |text: String| Regex::new(&text).expect("a fixed pattern");
        let word = |words: &str| pattern(format!(r"(?i)(?:^|[^\w'])(?:{words})(?:[^\w]|$)"));
        let first = |words: &str| pattern(format!(r"(?i)^(?:{words})(?:[^\w]|$)"));
        Language {
            filler: pattern(format!(r"(?i)^(?:{})(?:\s*[,:;.!\x{{2013}}\x{{2014}}-]+\s*|\s+)", words.filler)),
            from_now: pattern(format!(r"(?i)^(?:{})(?:\s*[,:]\s*|\s+)", words.from_now)),
            from_now_end: pattern(format!(r"(?i)[,\s]+(?:{})\s*[.!]*$", words.from_now)),
            scope: word(words.scope),
            absolute: word(words.absolute),
            each: word(words.each),
            order: pattern(format!(
                r"(?i)^(?:(?:ne |n'|no )?(?:{absolute}) )?(?:ne |n'|no )?(?:{orders})(?:\s|$)",
                absolute = words.absolute,
                orders = words.orders
            )),
            infinitive: pattern(format!("(?i){}", words.infinitive)),
            must: first(words.must),
            habit: word(words.habit),
            against: pattern(format!("(?i)(?:{})", words.against)),
            because: pattern(format!("(?i){}", words.because)),
            question: first(words.question),
            passing: word(words.passing),
            statement: first(words.statement),
        }
    }

    /// The instruction that a sentence of this language is, if it is one.
    fn instruction(&self, plain: &str) -> Option<Instruction> {
        let (mut rest, mut marked) = (plain.trim_end_matches(['.', '!', ' ']), false);
        loop {
            if let Some(found) = self.from_now.find(rest) {
                (rest, marked) = (&rest[found.end()..], true);
            } else if let Some(found) = self.filler.find(rest).filter(|found| found.end() < rest.len()) {
                rest = &rest[found.end()..];
            } else {
                break;
            }
        }
        if let Some(found) = self.from_now_end.find(rest) {
            (rest, marked) = (&rest[..found.start()], true);
        }
        let (order, reason) = match self.because.find(rest) {
            Some(found) if found.start() >= 10 => {
                (&rest[..found.start()], Some(rest[found.start()..].trim_start_matches([',', ' '])))
            }
            _ => (rest, None),
        };
        let scoped = self.scope.is_match(order);
        let told = self.scope.replace_all(order, " ");
        if self.question.is_match(rest) || plain.trim_end().ends_with('?') || self.passing.is_match(&told) {
            return None;
        }
        let absolute = self.absolute.find(order).is_some();
        let bare = self.absolute.replace(order, " ");
        let bare = bare.trim();
        let habit = self.habit.is_match(order);
        let must = self.must.is_match(order);
        let ordered = self.order.is_match(order)
            || must
            || ([order, bare, bare.split(',').next().unwrap_or(bare)]
                .iter()
                .any(|text| self.infinitive.is_match(text))
                && !self.statement.is_match(order));
        let against = self.against.is_match(order);
        let tool = order.split_whitespace().any(is_tool);
        let lasting = marked
            || absolute && (ordered || habit)
            || self.each.is_match(order) && ordered
            || habit && (scoped || against);
        let on_its_own = ordered && against && tool;
        (order.split_whitespace().count() >= 3 && (lasting || on_its_own)).then(|| Instruction {
            words: plain.to_owned(),
            order: order.trim_end_matches([',', ' ']).to_owned(),
            reason: reason.map(str::to_owned),
            lasting,
            scoped,
            instead_of: None,
        })
    }
}

/// The instruction that a sentence is in one of the languages that are known beside English.
pub fn instruction(sentence: &str) -> Option<Instruction> {
    let fit = sentence.chars().count() <= judge::MAX_QUOTE
        && !judge::is_local(sentence)
        && !judge::is_unsafe(sentence)
        && !judge::is_ours(sentence)
        && !judge::is_mocking(sentence)
        && !sentence.trim_end().ends_with([':', '?']);
    fit.then(|| READY.iter().find_map(|language| language.instruction(&judge::plain(sentence)))).flatten()
}
