import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/** An in-memory index, and two searches. */
public class UseLucene {
    private static final String[] WORDS = {"causal", "profile", "event", "trace", "thread", "queue", "path", "label"};

    public static void main(String[] arguments) throws Exception {
        java.util.logging.Logger.getLogger("org.apache.lucene").setLevel(java.util.logging.Level.OFF);
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
            config.setMergeScheduler(new SerialMergeScheduler());
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (int i = 0; i < 400; i++) {
                    StringBuilder text = new StringBuilder();
                    for (int n = 0; n < 30; n++) {
                        text.append(WORDS[(i * 7 + n * n * 3 + i * n) % WORDS.length]).append(' ');
                    }
                    Document document = new Document();
                    document.add(new StringField("id", "d" + i, Field.Store.YES));
                    document.add(new TextField("text", text.toString(), Field.Store.NO));
                    writer.addDocument(document);
                    if (i % 100 == 99) {
                        writer.commit();
                    }
                }
                writer.forceMerge(1);
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                BooleanQuery.Builder both = new BooleanQuery.Builder();
                both.add(new TermQuery(new Term("text", "causal")), BooleanClause.Occur.MUST);
                both.add(new TermQuery(new Term("text", "queue")), BooleanClause.Occur.SHOULD);
                for (ScoreDoc hit : searcher.search(both.build(), 5).scoreDocs) {
                    System.out.println(searcher.storedFields().document(hit.doc).get("id") + " " + hit.score);
                }
                System.out.println(searcher.count(new PhraseQuery("text", "event", "trace")));
            }
        }
    }
}
