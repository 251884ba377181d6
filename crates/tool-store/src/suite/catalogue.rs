//! Tests of the tool catalogue.

use crate::*;

use super::tests;

fn entry(name: &str, contract: &str) -> CatalogueEntry {
    CatalogueEntry {
        title: (name == "look").then(|| "Look".to_owned()),
        description: format!("Does {name}."),
        category: "general".to_owned(),
        contract: contract.to_owned(),
        effect: 3,
        ..CatalogueEntry::new(name)
    }
}

tests! {
    ($) __suite_catalogue in catalogue for Catalogue;

    #[test]
    async fn sync_reports_its_changes(store: impl Catalogue) {
        let added = store.sync(vec![entry("look", "1"), entry("act", "1")]).await.unwrap();
        assert_eq!(added, CatalogueChanges { added: 2, ..CatalogueChanges::default() });
        assert_eq!(store.entries().await.unwrap(), [entry("act", "1"), entry("look", "1")]);
        let changes = store.sync(vec![entry("look", "2"), entry("new", "1")]).await.unwrap();
        assert_eq!(changes, CatalogueChanges { added: 1, changed: 1, removed: 1 });
        assert_eq!(store.entries().await.unwrap(), [entry("look", "2"), entry("new", "1")]);
        let same = store.sync(vec![entry("new", "1"), entry("look", "2")]).await.unwrap();
        assert_eq!(same, CatalogueChanges::default());
    }
}
